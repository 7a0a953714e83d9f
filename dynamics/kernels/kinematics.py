# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the links are, how they move, and the motion columns and inertias that everything else is made of."""

import math

from ..jit import kernel
from ..joint import CYLINDRICAL, FREE, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL
from .rotations import cross, multiply, turn


@kernel
def follow(model, data):
    """Put mimic joints exactly where their leaders have them (003 (15)): data.q and data.v in and out."""
    for m in range(model.follower.shape[0]):
        d = model.follower[m, 0]
        data.q[model.follower[m, 1]] = model.ratio[d] * data.q[model.follower[m, 2]] + model.offset[m]
        data.v[d] = model.ratio[d] * data.v[model.lead[d]]


@kernel
def place_links(model, data):
    """World pose of every link: pose(parent) @ at @ joint(q).

    data.position, data.rotation, data.matrix   out
    """
    parent, kind, q_start = model.parent, model.kind, model.q_start
    at_position, at_rotation, axis, plane = model.at_position, model.at_rotation, model.axis, model.plane
    q, position, rotation, matrix = data.q, data.position, data.rotation, data.matrix
    follow(model, data)
    for i in range(1, parent.shape[0]):
        p = parent[i]
        joint = kind[i]
        s = q_start[i]
        if p == 0:
            px, py, pz = at_position[i, 0], at_position[i, 1], at_position[i, 2]
            w, x, y, z = at_rotation[i, 0], at_rotation[i, 1], at_rotation[i, 2], at_rotation[i, 3]
        else:
            ax, ay, az = at_position[i, 0], at_position[i, 1], at_position[i, 2]
            px = position[p, 0] + matrix[p, 0, 0] * ax + matrix[p, 0, 1] * ay + matrix[p, 0, 2] * az
            py = position[p, 1] + matrix[p, 1, 0] * ax + matrix[p, 1, 1] * ay + matrix[p, 1, 2] * az
            pz = position[p, 2] + matrix[p, 2, 0] * ax + matrix[p, 2, 1] * ay + matrix[p, 2, 2] * az
            w, x, y, z = multiply(
                rotation[p, 0], rotation[p, 1], rotation[p, 2], rotation[p, 3],
                at_rotation[i, 0], at_rotation[i, 1], at_rotation[i, 2], at_rotation[i, 3],
            )  # fmt: skip
        if joint == SPHERICAL:
            w, x, y, z = multiply(w, x, y, z, q[s], q[s + 1], q[s + 2], q[s + 3])
        elif joint == FREE:
            dx, dy, dz = turn(w, x, y, z, q[s + 4], q[s + 5], q[s + 6])
            px, py, pz = px + dx, py + dy, pz + dz
            w, x, y, z = multiply(w, x, y, z, q[s], q[s + 1], q[s + 2], q[s + 3])
        else:
            if joint == PRISMATIC or joint == CYLINDRICAL:
                slide = q[s] if joint == PRISMATIC else q[s + 1]
                dx, dy, dz = turn(w, x, y, z, slide * axis[i, 0], slide * axis[i, 1], slide * axis[i, 2])
                px, py, pz = px + dx, py + dy, pz + dz
            elif joint == PLANAR:
                u, t = q[s + 1], q[s + 2]
                dx, dy, dz = turn(
                    w, x, y, z,
                    u * plane[i, 0] + t * plane[i, 3],
                    u * plane[i, 1] + t * plane[i, 4],
                    u * plane[i, 2] + t * plane[i, 5],
                )  # fmt: skip
                px, py, pz = px + dx, py + dy, pz + dz
            if joint == REVOLUTE or joint == CYLINDRICAL or joint == PLANAR:
                c, h = math.cos(0.5 * q[s]), math.sin(0.5 * q[s])
                w, x, y, z = multiply(w, x, y, z, c, h * axis[i, 0], h * axis[i, 1], h * axis[i, 2])
        position[i, 0], position[i, 1], position[i, 2] = px, py, pz
        rotation[i, 0], rotation[i, 1], rotation[i, 2], rotation[i, 3] = w, x, y, z
        matrix[i, 0, 0] = 1.0 - 2.0 * (y * y + z * z)
        matrix[i, 0, 1] = 2.0 * (x * y - w * z)
        matrix[i, 0, 2] = 2.0 * (x * z + w * y)
        matrix[i, 1, 0] = 2.0 * (x * y + w * z)
        matrix[i, 1, 1] = 1.0 - 2.0 * (x * x + z * z)
        matrix[i, 1, 2] = 2.0 * (y * z - w * x)
        matrix[i, 2, 0] = 2.0 * (x * z - w * y)
        matrix[i, 2, 1] = 2.0 * (y * z + w * x)
        matrix[i, 2, 2] = 1.0 - 2.0 * (x * x + y * y)


@kernel
def spread_columns(model, data):
    """Motion columns and link inertias in world axes about the tree origin.

    data.column    (nv, 6) out
    data.inertia   (nb, 10) out
    """
    root, v_start = model.root, model.v_start
    dof_axis, dof_angular = model.dof_axis, model.dof_angular
    mass, com, tensor = model.mass, model.com, model.tensor
    position, matrix, column, inertia = data.position, data.matrix, data.column, data.inertia
    for i in range(1, root.shape[0]):
        o = root[i]
        rx, ry, rz = position[i, 0] - position[o, 0], position[i, 1] - position[o, 1], position[i, 2] - position[o, 2]
        m00, m01, m02 = matrix[i, 0, 0], matrix[i, 0, 1], matrix[i, 0, 2]
        m10, m11, m12 = matrix[i, 1, 0], matrix[i, 1, 1], matrix[i, 1, 2]
        m20, m21, m22 = matrix[i, 2, 0], matrix[i, 2, 1], matrix[i, 2, 2]
        for d in range(v_start[i], v_start[i + 1]):
            lx, ly, lz = dof_axis[d, 0], dof_axis[d, 1], dof_axis[d, 2]
            ax = m00 * lx + m01 * ly + m02 * lz
            ay = m10 * lx + m11 * ly + m12 * lz
            az = m20 * lx + m21 * ly + m22 * lz
            if dof_angular[d] == 1:
                column[d, 0], column[d, 1], column[d, 2] = ax, ay, az
                column[d, 3], column[d, 4], column[d, 5] = cross(rx, ry, rz, ax, ay, az)
            else:
                column[d, 0], column[d, 1], column[d, 2] = 0.0, 0.0, 0.0
                column[d, 3], column[d, 4], column[d, 5] = ax, ay, az
        lx, ly, lz = com[i, 0], com[i, 1], com[i, 2]
        cx = rx + m00 * lx + m01 * ly + m02 * lz
        cy = ry + m10 * lx + m11 * ly + m12 * lz
        cz = rz + m20 * lx + m21 * ly + m22 * lz
        m = mass[i]
        xx, xy, xz = tensor[i, 0], tensor[i, 1], tensor[i, 2]
        yy, yz, zz = tensor[i, 3], tensor[i, 4], tensor[i, 5]
        # rows of R T, then (R T) R'
        t00, t01, t02 = m00 * xx + m01 * xy + m02 * xz, m00 * xy + m01 * yy + m02 * yz, m00 * xz + m01 * yz + m02 * zz
        t10, t11, t12 = m10 * xx + m11 * xy + m12 * xz, m10 * xy + m11 * yy + m12 * yz, m10 * xz + m11 * yz + m12 * zz
        t20, t21, t22 = m20 * xx + m21 * xy + m22 * xz, m20 * xy + m21 * yy + m22 * yz, m20 * xz + m21 * yz + m22 * zz
        inertia[i, 0] = m
        inertia[i, 1], inertia[i, 2], inertia[i, 3] = m * cx, m * cy, m * cz
        inertia[i, 4] = t00 * m00 + t01 * m01 + t02 * m02 + m * (cy * cy + cz * cz)
        inertia[i, 5] = t00 * m10 + t01 * m11 + t02 * m12 - m * cx * cy
        inertia[i, 6] = t00 * m20 + t01 * m21 + t02 * m22 - m * cx * cz
        inertia[i, 7] = t10 * m10 + t11 * m11 + t12 * m12 + m * (cx * cx + cz * cz)
        inertia[i, 8] = t10 * m20 + t11 * m21 + t12 * m22 - m * cy * cz
        inertia[i, 9] = t20 * m20 + t21 * m21 + t22 * m22 + m * (cx * cx + cy * cy)


@kernel
def move_links(model, data):
    """Twist of every link from the joint velocities, about the tree origin: plain sums of columns.

    data.twist   (nb, 6) out
    """
    parent, v_start = model.parent, model.v_start
    column, v, twist = data.column, data.v, data.twist
    for i in range(1, parent.shape[0]):
        p = parent[i]
        t0, t1, t2, t3, t4, t5 = twist[p, 0], twist[p, 1], twist[p, 2], twist[p, 3], twist[p, 4], twist[p, 5]
        for d in range(v_start[i], v_start[i + 1]):
            rate = v[d]
            t0 += column[d, 0] * rate
            t1 += column[d, 1] * rate
            t2 += column[d, 2] * rate
            t3 += column[d, 3] * rate
            t4 += column[d, 4] * rate
            t5 += column[d, 5] * rate
        twist[i, 0], twist[i, 1], twist[i, 2], twist[i, 3], twist[i, 4], twist[i, 5] = t0, t1, t2, t3, t4, t5
