"""The host loop of a sweep: resume, train a segment, record, save."""
