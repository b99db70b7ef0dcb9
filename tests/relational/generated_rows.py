"""Rows of the hospital and the fleet: made by a seeded generator, with gaps, ties and repeats."""

from __future__ import annotations

import datetime
import random
import sqlite3
from typing import Any

_Rows = list[tuple[Any, ...]]


def fill(connection: sqlite3.Connection, name: str) -> None:
    """Insert the rows of the database `name`; nothing if its rows stand with its tables."""
    for table, rows in {"hospital": _hospital, "fleet": _fleet}.get(name, dict)().items():
        places = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)


def _day(rng: random.Random, first: int, last: int) -> datetime.date:
    start = datetime.date(first, 1, 1)
    return start + datetime.timedelta(rng.randrange((datetime.date(last + 1, 1, 1) - start).days))


def _after(rng: random.Random, day: datetime.date, most: int) -> str:
    return (day + datetime.timedelta(rng.randint(1, most))).isoformat()


def _hospital() -> dict[str, _Rows]:
    rng = random.Random(21)
    wards: _Rows = [
        (1, "Maple", 1, 24, 0),
        (2, "Geneva", 2, 10, 1),
        (3, "Harbor", 2, 18, 0),
        (4, "Cedar", 3, 10, 1),
        (5, "Annex", 4, 6, 0),
    ]
    first = "Lena Omar Pia Ravi Sofia Tomas Ulla Viktor Wanda Yusuf Zoe Adam".split()
    last = "Adler Brandt Castro Dupont Ek Fontana Graf Huber Ito Jansen Keller Lang".split()
    nurses: _Rows = []
    for n, (given, family) in enumerate(zip(first, last, strict=True), 1):
        ward = None if n == 12 else rng.choice([1, 1, 2, 3, 4])
        mentor = None if n < 3 else rng.choice([1, 2, 3])
        wage = [24.5, 31, 28.25, 40, 31][n % 5]
        hired = _day(rng, 2015, 2023).isoformat()
        grade = rng.choice(["Junior", "Senior", "Lead"])
        nurses.append(
            (
                n,
                f"{given} {family}",
                grade,
                ward,
                None if mentor == n else mentor,
                wage,
                hired,
                n % 3 == 0,
            )
        )
    titles = ["Wound Care", "Dialysis", "Triage", "Infusion", "Telemetry"]
    certificates: _Rows = [(n, title, 12 * n) for n, title in enumerate(titles, 1)]
    held: _Rows = [(n, c) for n in range(1, 11) for c in rng.sample(range(1, 5), rng.randint(0, 3))]
    patients: _Rows = []
    for n in range(1, 31):
        name = f"{rng.choice(first)} {rng.choice('Moser Nowak Olsen Peters Quinn'.split())} {n}"
        city = rng.choice(["Geneva", "Bern", "Basel", "Lausanne"])
        blood = None if n % 10 == 0 else rng.choice(["A+", "B+", "AB-", "O+"])
        size = (rng.randrange(480, 1100) / 10, rng.randrange(150, 200))
        born = _day(rng, 1940, 2010).isoformat()
        patients.append((n, name, born, city, blood, *size, n % 4 == 0))
    admissions: _Rows = []
    for n in range(1, 61):
        day = _day(rng, 2022, 2024)
        left = None if n % 9 == 0 else _after(rng, day, 30)
        ward, moved = rng.choice([1, 2, 3, 4]), rng.choice([None, None, 1, 2, 4])
        urgency = rng.choice(["high", "low", "planned"])
        charge = rng.choice([180, 240.5, 410])
        admissions.append(
            (n, rng.randint(1, 24), ward, moved, day.isoformat(), left, urgency, charge)
        )
    shifts: _Rows = []
    for n in range(1, 121):
        kind = rng.choice(["day", "night", "late"])
        overtime = rng.choice([None, 0, 0, 1.5, 3])
        day = _day(rng, 2023, 2024).isoformat()
        worked = rng.choice([6, 8, 8, 12])
        shifts.append(
            (n, rng.randint(1, 10), rng.choice([1, 2, 3, 4]), day, kind, worked, overtime)
        )
    medications: _Rows = [
        (1, "Cardiol", "Novapharm", 4.2),
        (2, "Dormix", "Bexal", 1.1),
        (3, "Febrin", "Bexal", 0.6),
        (4, "Sanavit", "Novapharm", 9.75),
        (5, "Torpex", "Lindt", 3.3),
    ]
    doses: _Rows = [
        (
            n,
            rng.randint(1, 50),
            rng.choice([1, 2, 3, 3, 4]),
            rng.randint(1, 9),
            _day(rng, 2022, 2024).isoformat(),
            rng.choice([50, 100, 250, 500]),
        )
        for n in range(1, 151)
    ]
    return {
        "Ward": wards,
        "Nurse": nurses,
        "Certificate": certificates,
        "NurseCertificate": held,
        "Patient": patients,
        "Admission": admissions,
        "Shift": shifts,
        "Medication": medications,
        "Dose": doses,
    }


def _fleet() -> dict[str, _Rows]:
    rng = random.Random(22)
    depots: _Rows = [
        (1, "Northgate", "Leeds", "North"),
        (2, "Riverside", "York", "North"),
        (3, "Docklands", "London", "South"),
        (4, "Hilltop", "Bath", "West"),
        (5, "Leeds", "Bath", "West"),
    ]
    vehicles: _Rows = []
    for n in range(1, 21):
        bought = _day(rng, 2015, 2023)
        gone = _after(rng, bought, 600) if n % 6 == 0 else None
        fuel = rng.choice(["diesel", "petrol", "electric"])
        price = rng.choice([18000, 25500, 31000.5, None])
        vehicles.append(
            (
                n,
                f"FL-{100 + n}",
                rng.choice(["Ford", "Iveco", "Volvo"]),
                fuel,
                rng.choice([1, 2, 3, 4]),
                rng.randrange(5000, 180000, 500),
                price,
                bought.isoformat(),
                gone,
                fuel == "electric",
            )
        )
    people = [("Amy", "Cole"), ("Ben", "Hart"), ("Cara", "Leeds"), ("Dan", "Marsh")]
    people += [("Eve", "Noble"), ("Finn", "Owens"), ("Gail", "Price"), ("Hugo", "Reed")]
    drivers: _Rows = [
        (
            n,
            *name,
            None if n == 8 else rng.choice([1, 2, 3]),
            None if n < 3 else rng.choice([1, 2]),
            rng.choice(["B", "C1", "CE"]),
            _day(rng, 2016, 2023).isoformat(),
            2100 + 150 * (n % 4),
        )
        for n, name in enumerate(people, 1)
    ]
    trips: _Rows = []
    for n in range(1, 91):
        day = _day(rng, 2022, 2024)
        km = rng.randrange(100, 4000) / 10
        start = f"{day} {rng.randint(5, 12):02}:{rng.choice([0, 30]):02}:00"
        end = None if n % 15 == 0 else f"{day} {rng.randint(13, 23):02}:15:00"
        trips.append(
            (
                n,
                rng.randint(1, 16),
                rng.randint(1, 7),
                rng.randint(1, 4),
                rng.randint(1, 5),
                start,
                end,
                km,
                km + rng.choice([-20, -5, 0, 12.5, 30]),
                None if n % 11 == 0 else rng.randrange(50, 600) / 10,
            )
        )
    mechanics: _Rows = [
        (1, "Ivy", "Shaw", 1, 1),
        (2, "Jack", "Todd", 2, 0),
        (3, "Kim", "Usher", 3, 1),
        (4, "Liam", "Vance", 1, 1),
        (5, "Mona", "Wells", None, 0),
    ]
    jobs: _Rows = []
    for n in range(1, 51):
        day = _day(rng, 2022, 2024)
        closed = None if n % 7 == 0 else _after(rng, day, 20)
        kind = rng.choice(["brakes", "tyres", "engine", "oil"])
        who = None if n % 13 == 0 else rng.randint(1, 4)
        cost = rng.choice([80, 149.9, 320, 1250, None])
        jobs.append(
            (
                n,
                rng.randint(1, 14),
                who,
                day.isoformat(),
                closed,
                kind,
                rng.randint(1, 16) / 2,
                cost,
            )
        )
    parts: _Rows = [
        (1, "Brake Pad", "Brembo", 45, 120),
        (2, "Oil Filter", "Mann", 9.5, 300),
        (3, "Tyre", "Conti", 110, 40),
        (4, "Belt", "Conti", 22.4, 0),
        (5, "Mirror", "Mann", 35, 12),
    ]
    used: _Rows = [
        (n, part, rng.randint(1, 6))
        for n in range(1, 46)
        for part in sorted(rng.sample(range(1, 5), rng.randint(0, 3)))
    ]
    remarks = [None, "worn tyres", "rust", None]
    inspections: _Rows = [
        (
            n,
            rng.randint(1, 18),
            _day(rng, 2022, 2024).isoformat(),
            rng.random() < 0.7,
            rng.choice(remarks),
        )
        for n in range(1, 41)
    ]
    return {
        "depot": depots,
        "vehicle": vehicles,
        "driver": drivers,
        "trip": trips,
        "mechanic": mechanics,
        "maintenance_job": jobs,
        "spare_part": parts,
        "job_part": used,
        "inspection": inspections,
    }
