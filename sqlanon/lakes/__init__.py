"""Tables of lakes and releases in object stores: Parquet files, listed by a log or a note."""

OFFERS = {
    "sources": {"lake": "sqlanon.lakes.tables:source_at", "store": "sqlanon.lakes.store:source_at"},
    "targets": {"lake": "sqlanon.lakes.to_lake:LakeTarget", "store": "sqlanon.lakes.store:StoreTarget"},
}
