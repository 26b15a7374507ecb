"""A model whose texts may have several labels each, or none: what differs from one label a text."""
