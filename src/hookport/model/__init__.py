"""The canonical model: frozen values, no input or output, no dialect's name."""
