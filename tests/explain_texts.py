"""Short texts of three classes that explanations are tried on."""

TEXTS = [
    *["win a free phone now", "free prize inside, free!", "claim a free phone"],
    *["see you at six", "lunch at noon", "are you at home now"],
    *["meet at the café", "the report is late", "see the report at noon"],
] * 3
LABELS = (["spam"] * 3 + ["ham"] * 3 + ["work"] * 3) * 3
