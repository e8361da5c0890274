"""Speed, beside what people use today."""
