package store

// File is the ledger's file in the state root.
const File = "ledger.db"
