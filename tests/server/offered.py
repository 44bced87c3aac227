"""Data that the administrator of a server offers to be added, for tests."""

import json
from pathlib import Path

LIMITS = "[limits]\nrequests_per_minute = 60000\nburst = 10000\n"


def write_trips(file: Path, riders: int = 300) -> None:
    rows = [
        f"{i},{('Aba', 'Ebo')[i % 2]},{i * 7 % 120},2024-{1 + j:02}-{1 + i % 28:02}"
        for i in range(riders)
        for j in range(1 + i % 4)
    ]
    file.write_text("\n".join(["rider_id,town,minutes,day", *rows]) + "\n")


def write_settings(folder: Path, *, more: str = "") -> Path:
    (folder / "data").mkdir(exist_ok=True)
    file = folder / "server.toml"
    places = json.dumps([str(folder / "data")])
    where = json.dumps(str(folder / "added"))
    file.write_text(f"add_data_from = {places}\ncatalog_folder = {where}\n{more}{LIMITS}")
    return file
