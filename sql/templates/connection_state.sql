-- The number of the open transaction, which is another one for every statement where none is open, and the collation.
SELECT txid_current() AS transaction_id, current_setting('default_collation') AS default_collation
