"""What both sides agree on: names, widths, encodings. No algorithms, no derived tables."""
