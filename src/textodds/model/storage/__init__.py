"""How a model is laid out in its file; `textodds.model.file` opens one."""
