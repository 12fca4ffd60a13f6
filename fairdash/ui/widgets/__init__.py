"""Parts that several pages share: frame, blocks, pickers, polling."""
