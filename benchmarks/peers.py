"""Peers: the same graph in whole processes, ours against each."""

from collections.abc import Mapping
from pathlib import Path

from measure import Usage, best
from peer_list import PEERS, Peer, version
from statecli_side import complaint, statecli, write_graph
from table import Table

SIZES = (10, 1_000, 10_000)
QUICK_SIZES = SIZES[:2]
LIBRARY_FROM = 1_000  # states; below, only a linter must be slower than we are
CPU_LIMIT = 120  # seconds, after which a peer is killed
ROUNDS = 3
#: Ours on the graph as YAML and as JSON. A peer that reads YAML is compared with the first, one
#: that reads JSON, or no file at all, with the second.
YAML, JSON = "statecli validate x.yaml", "statecli validate x.json"


def peers(python: str, quick: bool, folder: Path) -> bool:
    """Print ours against each peer at each size; true if we are faster wherever we must be."""
    versions = {peer.package: version(peer) for peer in PEERS}
    missing = [name for name, found in versions.items() if not found]
    there = [peer for peer in PEERS if versions[peer.package]]
    print(f"\npeers: whole processes, best CPU of {ROUNDS} interleaved runs, a run over 10 s once")
    print("(ratios are ours/peer, below 1 we are faster)")
    if there:
        print(", ".join(f"{peer.package} {versions[peer.package]}" for peer in there))
    if missing:
        print(f"not installed (--install): {', '.join(missing)}")
    sizes = QUICK_SIZES if quick else SIZES
    fits = [_one_size(python, count, there, folder) for count in sizes]  # all of them, always
    return all(fits)


def _one_size(python: str, count: int, there: list[Peer], folder: Path) -> bool:
    graph = write_graph("generate.py", "states", count, folder, ".yaml")
    twin = write_graph("generate.py", "states-json", count, folder, ".json")
    problem = complaint(python, graph, count) or complaint(python, twin, count)
    if problem:
        print(f"{count:,} states: {problem}")
        return False
    commands = {
        YAML: statecli(python, "validate", str(graph)),
        JSON: statecli(python, "validate", str(twin)),
    }
    for peer in there:
        converted = write_graph("convert.py", peer.language, count, folder, peer.suffix)
        commands[peer.package] = [*peer.call, str(converted)]
    found = best(commands, ROUNDS, CPU_LIMIT)
    return _print_size(count, there, found)


def _print_size(count: int, there: list[Peer], found: Mapping[str, Usage]) -> bool:
    print()
    table = Table(
        (f"{count:,} states", 30),
        ("CPU s", 8),
        ("wall s", 8),
        ("CPU", 7),
        ("wall", 7),
        ("ours", 6),
        ("target", 14),
    )
    for name in (YAML, JSON):
        table.row([name, f"{found[name].cpu:.3f}", f"{found[name].wall:.3f}"])
    fits = True
    for peer in there:
        usage = found[peer.package]
        killed = usage.code < 0 and usage.cpu > 0.9 * CPU_LIMIT  # kernels count a little apart
        if usage.code != 0 and not killed:
            table.row([peer.package, f"ends with {usage.code}: {usage.last_line[:80]}"])
            continue
        ours = YAML if peer.suffix in (".yaml", ".yml") else JSON
        ratios = (found[ours].cpu / usage.cpu, found[ours].wall / usage.wall)
        over, under = (">", "<") if killed else ("", "")
        cells = [f"{over}{seconds:.3f}" for seconds in (usage.cpu, usage.wall)]
        cells += [f"{under}{ratio:.3f}x" for ratio in ratios]
        cells.append(ours[-4:].lstrip("."))
        if peer.linter or count >= LIBRARY_FROM:
            cells.append("faster ok" if ratios[0] < 1 else "faster OVER")
            fits &= ratios[0] < 1
        table.row([peer.package, *cells])
    return fits
