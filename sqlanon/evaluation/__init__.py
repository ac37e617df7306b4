"""What a release is worth, and whether a mechanism keeps what it claims."""
