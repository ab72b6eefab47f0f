"""What `brain bench recall` does: public questions, asked of scratch vaults and of other ways."""
