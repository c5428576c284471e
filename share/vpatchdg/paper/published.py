"""What Cui and Kanschat, "Multilevel Interior Penalty Methods on GPUs" (2024), report: numbers alone, measured on
NVIDIA A100 GPUs of 40 GB.

NU[configuration][L] are the iterations for eight digits, degrees 3 to 7, of GMRES with V(1,1), the unit cube of 2^L cells a side, f = 1."""

DEGREES = (3, 4, 5, 6, 7)
LEVELS = (2, 3, 4, 5, 6, 7)
NONE = None  # out of memory, or not given

NU = {
    'paper_full': {
        2: (3.4, 2.9, 2.8, 2.6, 2.4), 3: (3.7, 3.2, 2.8, 2.6, 2.3), 4: (3.6, 3.1, 2.7, 2.5, 2.2),
        5: (3.4, 2.8, 2.5, 2.4, 2.0), 6: (3.0, 2.6, 2.4, 2.2, 1.8), 7: (2.8, 2.5, 1.9, 1.9, NONE)},
    'paper_dirichlet': {
        2: (4.9, 4.4, 4.8, 4.8, 5.0), 3: (5.7, 5.9, 6.1, 6.2, 6.5), 4: (5.6, 6.1, 6.1, 6.1, 6.4),
        5: (5.4, 5.7, 5.8, 5.8, 6.2), 6: (5.3, 5.5, 5.6, 5.6, 5.9), 7: (4.9, 5.3, 5.4, NONE, NONE)},
    'paper_clamped': {
        2: (18.6, 11.1, 7.9, 6.6, 5.4), 3: (22.7, 12.2, 7.7, 6.6, 5.2), 4: (21.7, 11.6, 7.4, 5.8, 4.8),
        5: (19.0, 10.7, 6.9, 5.7, 4.7), 6: (17.6, 9.7, 6.6, 5.5, 4.6), 7: (16.4, 8.8, 6.0, NONE, NONE)},
}

# Table 3: bank conflicts a thread block of A x, the basic kernel; the other one has none
CONFLICTS = (1824, 1040, 3276, 2744, 64974)

# Table 4: weak scaling on 1 to 4 GPUs, kernel Dirichlet, degree 3
GPUS = (1, 2, 3, 4)
NU_WEAK = {2: (5.3, 5.8, 5.8, 5.9), 3: (6.2, 6.3, 6.3, 6.3), 4: (6.0, 6.1, 6.1, 6.2), 5: (5.8, 5.9, 5.9, 5.8), 6: (5.6, 5.7, 5.9, 5.9),
           7: (5.5, 5.5, 5.6, 5.7)}

# Figure 10: the best share of the device's peak in double precision, A x of degree 4
PEAK_SHARE = 0.39

# Figure 11: by what factor the whole of GMRES is faster in single precision
SINGLE_OVER_DOUBLE = (1.5, 1.9)

# One A100 beats so many cores
CORES = 80
