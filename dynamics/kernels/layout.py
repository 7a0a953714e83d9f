# SPDX-License-Identifier: GPL-3.0-or-later
"""The arrays that kernels work on: their names, shapes, frames and units.

`Model` says what a chain is; it changes only with the structure. `Data` says where it is now, and holds every
intermediate result. Link 0 is the world. Spatial vectors are [angular; linear] in world axes about the origin of the
link's tree: the current position of the tree's first link, held fixed for the length of one evaluation. In that common
frame velocities and composite inertias are plain sums, and loop Jacobians plain differences, of the same columns.

nb links with the world, nq coordinates, nv velocities, depth the longest line of free ancestors, nc connections, nr
loop rows, ni islands with loops, nu velocities in the support of loops and soft rows (all islands), nw the most rows
in one island, nk prescribed links.
"""

from ..jit import fill, kernel, new_record, record

ModelArrays, MODEL = record(
    "Model",
    # links
    parent="i1",  # (nb) parent link; parents come before children
    root="i1",  # (nb) first link of the tree, whose position is the tree's origin
    kind="i1",  # (nb) joint type, see dynamics.joint
    q_start="i1",  # (nb) first coordinate
    v_start="i1",  # (nb + 1) first velocity
    at_position="f2",  # (nb, 3) joint frame in the parent's frame
    at_rotation="f2",  # (nb, 4)
    axis="f2",  # (nb, 3) joint axis, link frame
    plane="f2",  # (nb, 6) the two in-plane axes of a planar joint
    mass="f1",  # (nb)
    com="f2",  # (nb, 3) centre of mass, link frame
    tensor="f2",  # (nb, 6) inertia about the centre of mass, link frame: xx xy xz yy yz zz
    gravity="f1",  # (3)
    moves="i1",  # (nb) 1 if any free velocity moves the link
    # velocities
    dof_link="i1",  # (nv) link that a velocity moves
    dof_angular="i1",  # (nv) 1 turns, 0 slides
    dof_axis="f2",  # (nv, 3) direction, link frame
    depth="i1",  # (nv) number of free ancestors in the elimination tree, -1 if prescribed or a follower
    ancestor="i2",  # (nv, depth) free ancestors, from the root down
    related="i2",  # (nv, depth) 1 where the ancestor also moves the link, 0 where it is fill-in; empty: all do
    dense="i1",  # (1) 1 if there is fill-in: loops added to the mass matrix, for links without mass of their own
    # mimic joints: a velocity that follows another is eliminated
    lead="i1",  # (nv) the independent velocity that stands for it: itself or its leader; -1 if prescribed
    ratio="f1",  # (nv) how much of that it is; 1 unless it follows
    follower="i2",  # (nm, 3) velocity of a follower, its coordinate, and its leader's
    offset="f1",  # (nm) what is added to its coordinate
    pair="i2",  # (np, 4) two velocities on one line, one a follower, and the row and column where they meet in G'MG
    pair_weight="f1",  # (np)
    # what acts in the joints
    acts="i1",  # (1) 1 if anything does
    virtual_inertia="f1",  # (nv) kg m^2 or kg
    viscous="f1",  # (nv) N m s or N s/m
    coulomb="f1",  # (nv) N m or N
    lift="f1",  # (nv) share of the weight beyond the joint that is carried for it
    driven="i1",  # (nm) links with a muscle
    muscle="f2",  # (nm, 3) stiffness, damping, largest torque (0: none)
    limited="i1",  # (nl) links with a stop; a ball joint has two
    limit_kind="i1",  # (nl) 0 hinge, 1 twist, 2 swing of a ball joint
    limit="f2",  # (nl, 12) hinge: lower, upper; ball: twist range, two swing ranges, twist axis, first swing axis
    stop="f2",  # (nl, 2) stiffness and damping of the stop; 0 chooses firm ones when it is met
    # prescribed links
    prescribed="i1",  # (nk) links that move as given
    # connections
    first="i1",  # (nc) real link
    second="i1",  # (nc) its partner
    common="i1",  # (nc) nearest common ancestor link, 0 if in different trees
    first_position="f2",  # (nc, 3) joint frame in the first link, its z along the joint axis
    first_rotation="f2",  # (nc, 4)
    second_position="f2",  # (nc, 3) joint frame in the second link
    second_rotation="f2",  # (nc, 4)
    row_start="i1",  # (nc + 1) first row
    row_axis="i1",  # (nr) 0 1 2: no turning about x y z; 3 4 5: no sliding along x y z of the second joint frame
    row_connection="i1",  # (nr) connection that a row belongs to
    ease_start="f1",  # (nc) s: when the joint frames begin to be pulled together
    ease_time="f1",  # (nc) s: how long that takes; 0 if they are together from the beginning
    ease_offset="f1",  # (nr) how far a row was open then
    soft="f2",  # (nr, 2) stiffness and damping of a row held by a spring and a damper; 0, 0 if it is held exactly
    soft_rows="i1",  # rows with a spring and a damper
    give="i1",  # (nr) place of a soft row behind the island's velocities in Q, -1 for a hard row
    # islands with loops
    island_row="i1",  # (ni + 1) first row of an island
    island_dof="i1",  # (ni + 1) first entry of an island in `support`
    island_end="i1",  # (ni) one past the island's last velocity there; soft rows follow, up to the next island
    support="i1",  # (nu) free velocities that the island's rows touch, ancestors first; -1 for soft rows
    slot="i1",  # (nv) place of a velocity in `support`, -1 if in none
    # groups of links that no connection, joint or spring holds to the world, for exact momentum
    floating="i1",  # (nb) group of a link, -1 if it is held
    floating_root="i2",  # (nf, 2) first and one past the last entry in `floating_roots`
    floating_roots="i1",  # root links of the groups
    # line springs
    spring_link="i2",  # (ns, 2)
    spring_point="f2",  # (ns, 6) end points, link frames
    spring_law="f2",  # (ns, 3) stiffness N/m, rest length m, damping N s/m
)

DataArrays, DATA = record(
    "Data",
    time="f1",  # (1) s
    now="f1",  # (2) s: time of the present evaluation; length of the whole step
    implicit="f1",  # (2) how far ahead soft rows look: velocities, positions (s, s^2); 0 for explicit steps
    q="f1",  # (nq)
    v="f1",  # (nv)
    a="f1",  # (nv) accelerations; those of prescribed velocities are given
    tau="f1",  # (nv) joint forces
    wrench="f2",  # (nb, 6) external [moment; force] at the link origin, world axes
    field="f2",  # (nb, 4) of fields: force at the centre of mass at rest, world axes, and drag N s/m; empty: no field
    # pose
    position="f2",  # (nb, 3) world
    rotation="f2",  # (nb, 4)
    matrix="f3",  # (nb, 3, 3)
    column="f2",  # (nv, 6) motion of the link per unit velocity, about the tree origin
    inertia="f2",  # (nb, 10) mass, first moment (3), tensor xx xy xz yy yz zz, about the tree origin
    composite="f2",  # (nb, 10) of the link and everything beyond it
    pair_mass="f1",  # (np) entries of the mass matrix for pairs with a follower
    factor="f2",  # (nv, depth + 1) mass matrix by ancestors, then its factor L with the pivots on the diagonal
    root_pivot="f1",  # (nv) 1 / sqrt(pivot)
    # motion
    twist="f2",  # (nb, 6)
    drift="f2",  # (nb, 6) spatial acceleration with all free joint accelerations zero, gravity included
    force="f2",  # (nb, 6) of the link and everything beyond it
    bias="f1",  # (nv) joint forces that the accelerations a (or zero) would need
    half="f1",  # (nv) work: D^-1/2 L^-T times joint forces
    # loops
    row_first="f2",  # (nr, 6) wrench of a row about the first link's tree origin
    row_second="f2",  # (nr, 6) the same about the second link's tree origin
    residual="f1",  # (nr) how far a row is open
    gamma="f1",  # (nr) acceleration of a row (less what easing asks for) with all free joint accelerations zero
    missing="f1",  # (nr) what is missing to the velocity that a row must have
    pull="f1",  # (nr) force of springs and dampers of soft rows
    order="i1",  # (nr) rows of an island, the chosen independent ones first
    doubt="f1",  # (1) in a dead point of the loops: a row that stands out by less is left out of a stage
    least="f1",  # (1) squared share by which the least of the chosen rows stands out
    rank="i1",  # (ni) how many are independent
    Q="f2",  # (nu, nw) orthonormal basis of the loop forces in the mass metric
    R="f2",  # (nr, nw) its triangular factor, an island below the other
    norm="f2",  # (2, nw) work: squared row norms, at first and now
    y="f1",  # (nw) work
    G="f2",  # (nw, nw) work
    stiffness="f1",  # (ni) weight of the loops inside the mass matrix, where there is fill-in
    multiplier="f1",  # (nr) loop forces
    # steps
    saved_q="f1",  # (nq) before a step that may fail
    saved_v="f1",  # (nv)
    q0="f1",  # (nq) at the beginning of the step
    v0="f1",  # (nv)
    stage_v="f2",  # (4, nv) velocity of each stage, in the algebra of the joint groups
    stage_a="f2",  # (4, nv)
    move="f1",  # (nv) displacement in the algebra
    # prescribed motion, sampled at half steps
    given_q="f3",  # (samples, nk, 7)
    given_v="f3",  # (samples, nk, 6)
    given_a="f3",  # (samples, nk, 6)
    given_tau="f1",  # (nv) joint forces
    # momentum of floating groups
    group_momentum="f2",  # (nf, 6) at the beginning of the step, about the centre of mass; then what is missing
    group_centre="f2",  # (nf, 5) centre of mass that the step must lead to, mass, and 1 if the angular part is held
    # what acts in the joints
    goals_q="f3",  # (samples, nm, 7) tables of the muscles' goals
    goals_v="f3",  # (samples, nm, 6)
    goals_tau="f3",  # (samples, nm, 6) torque given on top
    goals_gain="f2",  # (samples, nm) how much of its strength a muscle uses
    goal="f2",  # (nm, 7) now
    goal_rate="f2",  # (nm, 6)
    goal_turning="f2",  # (nm, 6) rate of goal_rate over the step
    goal_force="f2",  # (nm, 6)
    gain="f1",  # (nm)
    muscle_torque="f2",  # (nm, 6)
    strained="i1",  # (nm) 1 if held at its limit
    slips="i1",  # (nv) 1 if Coulomb friction cannot hold it
    slip_torque="f1",  # (nv)
    stop_rest="f1",  # (nl) depth at which a stop was met, -1 while inside
    stop_on="i1",  # (nl) 1 if it pushes
    stop_law="f2",  # (nl, 2) stiffness and damping
    stop_held="f1",  # (nl) push in the last step
    stop_normal="f2",  # (nl, 3)
    stop_answer="f2",  # (nl, 2)
    lean="f1",  # (nv) s: how far beyond the middle of a midpoint step a joint is looked at, see acting.py
    rate="f1",  # (nv) velocities there
    leaning="f1",  # (1) the largest of them, of the step
    torque="f1",  # (nv) of everything that acts
    answer="f2",  # (nv, 2) its stiffness and damping
    error="f1",  # (6) work
    error_rate="f1",  # (6) work
    outward="f1",  # (3) work
    held="f1",  # (6) work
    beyond="f2",  # (nb, 4) work: mass and first moment beyond a joint
    power="f1",  # (7) W, of the accounts in kernels/energy.py
    spent="f1",  # (7) J, in the step that is being tried
    work="f1",  # (7) J, in all steps that were taken
    # outcome
    failure="i1",  # (2) what went wrong in the last step, and at which velocity
    halvings="i1",  # (1) how often a step was too long and was halved
    closure="f1",  # (1) how far any loop is open, m or rad
    energy="f1",  # (2) kinetic, potential
    momentum="f1",  # (6) [angular about the world origin; linear]
    # records, a row for each instant; empty if nothing is recorded
    record_q="f2",
    record_v="f2",
    record_position="f3",
    record_rotation="f3",
    record_books="f2",  # kinetic, potential, momentum (6), closure, work (7)
    record_reaction="f3",  # (instants, nc, 6)
)


# One builder each, and not one for both: numba finds a kernel in its cache by what it is called with.
@kernel
def build_model(arrays):
    """The record of ModelArrays that kernels see, on the same memory."""
    model = new_record(MODEL)
    fill(model, arrays)
    return model


@kernel
def build_data(arrays):
    """The record of DataArrays that kernels see, on the same memory."""
    data = new_record(DATA)
    fill(data, arrays)
    return data
