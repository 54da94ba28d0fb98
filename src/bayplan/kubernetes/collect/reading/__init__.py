"""Objects as they arrive: text of kubectl, pods without what is not needed."""
