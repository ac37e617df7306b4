"""What is read: names, paths, queries and frames as relations, where their rows come from, and pieces of them."""
