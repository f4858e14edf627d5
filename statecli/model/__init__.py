"""What flows between the rooms: frozen data, the key table, the truth of a guard."""
