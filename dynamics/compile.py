# SPDX-License-Identifier: GPL-3.0-or-later
"""From the editable description to the flat arrays of the kernels.

The tree part and the loop part are compiled apart: connecting and cutting grips in mid-run only remakes the loop part.
"""

from collections import namedtuple

import numpy as np

from .joint import FREE, FREEDOMS, LOOP_ROWS, Joint
from .kernels.layout import DataArrays, ModelArrays, build_data, build_model
from .mimic import followers
from .muscle import NO_IMPEDANCE, Driven
from .pose import quaternion_product
from .topology import fill_in, find_floating, find_islands, find_related, find_supports, merge_followers, plan_tree

Tree = namedtuple(
    "Tree",
    "parent root kind q_start v_start at_position at_rotation axis plane mass com tensor dof_link dof_angular dof_axis "
    "depth ancestor moves prescribed nq nv lead ratio follower offset pair pair_weight "
    "acts virtual_inertia viscous coulomb lift driven muscle limited limit_kind limit stop",
)

TREE_FIELDS = [field for field in Tree._fields if field in ModelArrays._fields and field not in ("depth", "ancestor")]


class Compiled:
    """A model and a workspace that fit one structure of a chain.

    model, data     what kernels take
    arrays, here    the same memory for Python: named tuples of arrays
    """

    def __init__(self, stamp, arrays, here, connections, dense):
        self.stamp, self.arrays, self.here, self.connections, self.dense = stamp, arrays, here, connections, dense
        self.model, self.data = build_model(arrays), build_data(here)

    def replace(self, **arrays):
        """Exchange arrays of the workspace, for records and tables of another length."""
        self.here = self.here._replace(**arrays)
        self.data = build_data(self.here)


def compiled(chain, dense=False):
    """The compiled form of the chain as it is now; made anew only if the structure has changed."""
    form = chain.compiled
    if form is None or form.stamp != chain.stamp or (dense and not form.dense):
        form = chain.compiled = _compile(chain, dense)
    return form


def _compile(chain, dense):
    if chain.compiled_tree is None:
        chain.compiled_tree = compile_tree(chain)
    tree = chain.compiled_tree
    loops, connections = _compile_loops(chain, tree)
    depth, ancestor, related = tree.depth, tree.ancestor, np.zeros((0, 0), dtype=np.int64)
    if dense:
        depth, ancestor = fill_in(tree.depth)
        loops |= _one_island(depth, loops["give"])
    if dense or len(tree.follower):
        related = find_related(tree.parent, tree.v_start, depth, tree.dof_link, ancestor.shape[1])
    springs = chain.springs
    arrays = ModelArrays(
        **{field: getattr(tree, field) for field in TREE_FIELDS},
        depth=depth, ancestor=ancestor, related=related, dense=np.array([int(dense)]), gravity=chain.gravity,
        spring_link=np.array([[s.first.index + 1, s.second.index + 1] for s in springs], dtype=np.int64).reshape(-1, 2),
        spring_point=np.array([[*s.at, *s.to] for s in springs], dtype=np.float64).reshape(-1, 6),
        spring_law=np.array([[s.stiffness, s.rest, s.damping] for s in springs], dtype=np.float64).reshape(-1, 3),
        **loops, **_floating_groups(chain, tree),
    )  # fmt: skip
    here = _workspace(arrays, tree.nq, tree.nv)
    return Compiled(chain.stamp, arrays, here, connections, dense)


def compile_tree(chain):
    """Arrays of links, joints and velocities."""
    links = [chain.world, *chain.links]
    kind = np.array([link.joint.kind for link in links])
    parent = np.array([0] + [link.parent.index + 1 for link in chain.links])
    tensor = np.array([link.inertia.tensor for link in links])
    axis = np.array([link.joint.axis for link in links])
    plane = np.zeros((len(links), 6))
    columns = []
    for i, link in enumerate(links):
        rows, plane[i] = _joint_columns(link.joint)
        columns.append(rows)
    columns = np.concatenate(columns)
    v_start = np.concatenate([[0], np.cumsum(np.array(FREEDOMS)[kind])])
    coordinates = np.array([link.joint.coordinates for link in links])
    q_start = np.concatenate([[0], np.cumsum(coordinates)])
    given = np.array([link.given is not None for link in links])
    root, moves, dof_link, depth, ancestor = plan_tree(parent, v_start, given)
    mimic = followers(chain, given, q_start, v_start)
    pair, pair_weight = np.zeros((0, 4), dtype=np.int64), np.zeros(0)
    if len(mimic["follower"]):
        depth, ancestor, pair, pair_weight = merge_followers(parent, v_start, dof_link, mimic["lead"], mimic["ratio"])
    return Tree(
        parent=parent, root=root, kind=kind, q_start=q_start, v_start=v_start,
        at_position=np.array([link.at.position for link in links]),
        at_rotation=np.array([link.at.rotation for link in links]),
        axis=axis, plane=plane,
        mass=np.array([link.inertia.mass for link in links]),
        com=np.array([link.inertia.com for link in links]),
        tensor=np.ascontiguousarray(tensor.reshape(-1, 9)[:, [0, 1, 2, 4, 5, 8]]),
        dof_link=dof_link, dof_angular=columns[:, :3].any(axis=1).astype(np.int64),
        dof_axis=np.ascontiguousarray(columns[:, :3] + columns[:, 3:]),
        depth=depth, ancestor=ancestor, moves=moves, prescribed=np.flatnonzero(given),
        nq=int(q_start[-1]), nv=int(v_start[-1]), pair=pair, pair_weight=pair_weight, **mimic,
        **_acting(links, v_start),
    )  # fmt: skip


def _acting(links, v_start):
    """Arrays of what acts in the joints."""
    nv = int(v_start[-1])
    feel = np.zeros((nv, 4))
    driven = [i for i, link in enumerate(links) if isinstance(link.acting.muscle, Driven)]
    stops = [(i, kind) for i, link in enumerate(links) if link.acting.limit for kind in link.acting.limit.kinds]
    limited = [i for i, _ in stops]
    muscles = [links[i].acting.muscle for i in driven]
    limits = [links[i].acting.limit for i in limited]
    acts = bool(driven or limited)
    for i, link in enumerate(links):
        if not link.acting.is_idle:
            one = link.acting.impedance
            feel[v_start[i] : v_start[i + 1]] = one.inertia, one.viscous, one.coulomb, one.lift
            acts = True
    columns = np.ascontiguousarray(feel.T)
    return dict(
        acts=np.array([int(acts)]), virtual_inertia=columns[0], viscous=columns[1], coulomb=columns[2], lift=columns[3],
        driven=np.array(driven, dtype=np.int64), limited=np.array(limited, dtype=np.int64),
        muscle=np.array([[m.stiffness, m.damping, m.limit] for m in muscles]).reshape(-1, 3),
        limit_kind=np.array([kind for _, kind in stops], dtype=np.int64),
        limit=np.array([limit.numbers() for limit in limits], dtype=np.float64).reshape(-1, 12),
        stop=np.array([[limit.stiffness, limit.damping] for limit in limits], dtype=np.float64).reshape(-1, 2),
    )  # fmt: skip


_COLUMNS = {}


def _joint_columns(joint: Joint):
    """Motion columns and in-plane axes of a joint; chains have few different ones, so they are remembered."""
    found = _COLUMNS.get(joint)
    if found is None:
        found = _COLUMNS[joint] = joint.columns, joint.frame[:, :2].T.ravel()
    return found


def _compile_loops(chain, tree):
    """Arrays of the connections, sorted by island, and the connections in that order."""
    grips = chain.connections
    first = np.array([grip.real.index + 1 for grip in grips], dtype=np.int64)
    second = np.array([grip.parent.index + 1 for grip in grips], dtype=np.int64)
    ties = tree.dof_link[np.stack([tree.follower[:, 0], tree.lead[tree.follower[:, 0]]], axis=1)]
    common, island, order = find_islands(tree.parent, tree.root, tree.moves, first, second, ties)
    grips = [grips[k] for k in order]
    first, second, common, island = first[order], second[order], common[order], island[order]
    rows = [LOOP_ROWS[grip.joint.kind] for grip in grips]
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    row_start = np.zeros(len(grips) + 1, dtype=np.int64)
    np.cumsum(sizes, out=row_start[1:])
    soft = np.array(
        [grip.softness(axis) for grip, row in zip(grips, rows, strict=True) for axis in row], dtype=np.float64
    ).reshape(-1, 2)
    island_row, island_dof, island_end, support, slot, give = find_supports(
        tree.parent, tree.v_start, tree.lead, tree.depth, tree.ancestor, first, second, common, island, row_start, soft
    )
    align = [grip.joint.alignment for grip in grips]
    return dict(
        first=first, second=second, common=common,
        first_position=np.array([grip.anchor.position for grip in grips]).reshape(-1, 3),
        second_position=np.array([grip.at.position for grip in grips]).reshape(-1, 3),
        first_rotation=np.array(
            [quaternion_product(grip.anchor.rotation, a) for grip, a in zip(grips, align, strict=True)]
        ).reshape(-1, 4),
        second_rotation=np.array(
            [quaternion_product(grip.at.rotation, a) for grip, a in zip(grips, align, strict=True)]
        ).reshape(-1, 4),
        row_start=row_start, row_axis=np.array([axis for row in rows for axis in row], dtype=np.int64),
        row_connection=np.repeat(np.arange(len(grips)), sizes),
        island_row=island_row, island_dof=island_dof, island_end=island_end, support=support, slot=slot,
        ease_start=np.array([grip.ease[0] for grip in grips]), ease_time=np.array([grip.ease[1] for grip in grips]),
        ease_offset=np.concatenate([grip.ease[2] for grip in grips]) if grips else np.zeros(0),
        soft=soft, give=give, soft_rows=np.flatnonzero(give >= 0),
    ), grips  # fmt: skip


def _floating_groups(chain, tree):
    """Trees and trees joined to them that nothing holds: their momentum changes by gravity alone."""
    ties = [(grip.real.index + 1, grip.parent.index + 1) for grip in chain.connections]
    ties += [(spring.first.index + 1, spring.second.index + 1) for spring in chain.springs]
    free = tree.kind == FREE
    free[tree.prescribed] = free[tree.driven] = False  # a driven root is pulled from outside
    for link in chain.links:
        if link.acting.impedance is not NO_IMPEDANCE and link.acting.impedance != NO_IMPEDANCE:
            free[link.index + 1] = False
    floating, ends, roots = find_floating(tree.parent, tree.root, free, np.array(ties, dtype=np.int64).reshape(-1, 2))
    return dict(floating=floating, floating_root=ends, floating_roots=roots)


def _one_island(depth, give):
    """With fill-in every free velocity meets every other: one island that touches them all."""
    free = np.flatnonzero(depth >= 0)
    slot = np.full(len(depth), -1)
    slot[free] = np.arange(len(free))
    soft = np.flatnonzero(give >= 0)
    give = np.full(len(give), -1)
    give[soft] = len(free) + np.arange(len(soft))
    count = min(len(give), 1)
    return dict(
        island_row=np.array([0, len(give)][: count + 1]), island_dof=np.array([0, len(free) + len(soft)][: count + 1]),
        island_end=np.full(count, len(free)), support=np.concatenate([free, np.full(len(soft), -1)]),
        slot=slot, give=give,
    )  # fmt: skip


def _workspace(model, nq, nv):
    """Arrays for everything that the kernels compute."""
    nb, nc, nr, nk = len(model.parent), len(model.first), len(model.row_axis), len(model.prescribed)
    ni, nu, nf = len(model.island_row) - 1, len(model.support), len(model.floating_root)
    nm, nl = len(model.driven), len(model.limited)
    nw = (int(np.diff(model.island_row).max()) + 3) // 4 * 4 if ni else 0  # whole blocks of four, see kernels/loops.py
    zeros = np.zeros
    unit = zeros((nb, 4))
    unit[:, 0] = 1.0
    return DataArrays(
        time=zeros(1), now=zeros(2), implicit=zeros(2), q=zeros(nq), v=zeros(nv), a=zeros(nv), tau=zeros(nv),
        wrench=zeros((nb, 6)), field=zeros((0, 4)),
        position=zeros((nb, 3)), rotation=unit, matrix=zeros((nb, 3, 3)) + np.eye(3),
        column=zeros((nv, 6)), inertia=zeros((nb, 10)), composite=zeros((nb, 10)),
        pair_mass=zeros(len(model.pair)), factor=zeros((nv, model.ancestor.shape[1] + 1)), root_pivot=zeros(nv),
        twist=zeros((nb, 6)), drift=zeros((nb, 6)), force=zeros((nb, 6)), bias=zeros(nv), half=zeros(nv),
        row_first=zeros((nr, 6)), row_second=zeros((nr, 6)), residual=zeros(nr), gamma=zeros(nr),
        missing=zeros(nr), pull=zeros(nr),
        order=np.arange(nr), doubt=zeros(1), least=np.ones(1),
        rank=zeros(ni, dtype=np.int64), Q=zeros((nu, nw)), R=zeros((nr, nw)), norm=zeros((2, nw)),
        y=zeros(nw), G=zeros((nw, nw)), stiffness=zeros(ni), multiplier=zeros(nr),
        saved_q=zeros(nq), saved_v=zeros(nv), q0=zeros(nq), v0=zeros(nv),
        stage_v=zeros((4, nv)), stage_a=zeros((4, nv)), move=zeros(nv),
        given_q=zeros((3, nk, 7)), given_v=zeros((3, nk, 6)), given_a=zeros((3, nk, 6)), given_tau=zeros(nv),
        goals_q=zeros((3, nm, 7)), goals_v=zeros((3, nm, 6)), goals_tau=zeros((3, nm, 6)), goals_gain=zeros((3, nm)),
        goal=zeros((nm, 7)), goal_rate=zeros((nm, 6)), goal_turning=zeros((nm, 6)), goal_force=zeros((nm, 6)),
        gain=zeros(nm), muscle_torque=zeros((nm, 6)), strained=zeros(nm, dtype=np.int64),
        slips=zeros(nv, dtype=np.int64), slip_torque=zeros(nv),
        stop_rest=np.full(nl, -1.0), stop_on=zeros(nl, dtype=np.int64), stop_law=zeros((nl, 2)),
        stop_held=zeros(nl), stop_normal=zeros((nl, 3)), stop_answer=zeros((nl, 2)),
        lean=zeros(nv), rate=zeros(nv), leaning=zeros(1), torque=zeros(nv), answer=zeros((nv, 2)),
        error=zeros(6), error_rate=zeros(6), outward=zeros(3), held=zeros(6),
        beyond=zeros((nb, 4)), power=zeros(7), spent=zeros(7), work=zeros(7),
        group_momentum=zeros((nf, 6)), group_centre=zeros((nf, 5)),
        failure=zeros(2, dtype=np.int64), halvings=zeros(1, dtype=np.int64),
        closure=zeros(1), energy=zeros(2), momentum=zeros(6),
        record_q=zeros((0, nq)), record_v=zeros((0, nv)), record_position=zeros((0, nb, 3)),
        record_rotation=zeros((0, nb, 4)), record_books=zeros((0, 16)), record_reaction=zeros((0, nc, 6)),
    )  # fmt: skip
