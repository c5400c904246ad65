"""The web app: analyse a file, run a challenge. `tallymark serve` starts it."""
