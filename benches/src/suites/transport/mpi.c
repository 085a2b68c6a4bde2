/* Ranks of MPI, which exchange messages as they are told to. Only collective operations have more
 * than two.
 *
 * usage: mpirun -n RANKS mpi SOCKET CORE0 CORE1
 *
 * All ranks connect to the Unix socket, say "RANK\n", and then wait there, without a busy core, for
 * lines "PATTERN BYTES TOUCH WINDOW BATCH BATCHES\n". Rank 0 begins, and answers "NS\n", the others
 * answer "0\n". The ranks have the two cores in turn. For "indexed", BYTES is the number of matrices.
 * For "tags" and "reverse-tags", WINDOW is the number of messages. What a round does, and how its time
 * is taken, is in `side.rs` and `patterns.rs`. */

#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20, MOST_WINDOW = 64, MOST_SAMPLES = 1 << 12, MOST_MATRICES = 1 << 18 };

/* A round that takes so many seconds does not end. */
enum { AT_MOST = 30 };

/* Collective operations have the elements of all ranks. */
static _Alignas(4096) unsigned char sent[2 * MOST_BYTES];
static _Alignas(4096) unsigned char received[2 * MOST_BYTES];
static double samples[MOST_SAMPLES];
static volatile uint64_t seen;
static unsigned char turn;

struct work {
    char pattern[16], touch[16];
    int bytes, window, batch, batches;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t sum(const unsigned char *bytes, size_t length) {
    uint64_t total = 0, word;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        memcpy(&word, bytes + i, 8);
        total += word;
    }
    for (; i < length; i++)
        total += bytes[i];
    return total;
}

static void put(const struct work *w, int peer) {
    if (w->touch[0] == 'd')
        memset(sent, ++turn, (size_t)w->bytes);
    MPI_Send(sent, w->bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
}

static void take(const struct work *w, int peer) {
    MPI_Recv(received, w->bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (w->touch[0] != 'u')
        seen = sum(received, (size_t)w->bytes);
}

static void window(const struct work *w, int rank) {
    MPI_Request requests[MOST_WINDOW];
    MPI_Status statuses[MOST_WINDOW];
    for (int i = 0; i < w->window; i++) {
        if (rank == 0)
            MPI_Isend(sent, w->bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(received, w->bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(w->window, requests, statuses);
}

/* Runs a collective operation. Returns 0 if the pattern is none. */
static int collective(const struct work *w) {
    static int root;
    static int size;
    if (size == 0)
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    int count = w->bytes / (int)sizeof(double);
    const char *p = w->pattern;
    if (strcmp(p, "barrier") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (strcmp(p, "broadcast") == 0)
        MPI_Bcast(received, count, MPI_DOUBLE, root = (root + 1) % size, MPI_COMM_WORLD);
    else if (strcmp(p, "allreduce") == 0)
        MPI_Allreduce(sent, received, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(p, "allgather") == 0)
        MPI_Allgather(sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, MPI_COMM_WORLD);
    else if (strcmp(p, "alltoall") == 0)
        MPI_Alltoall(sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, MPI_COMM_WORLD);
    else
        return 0;
    return 1;
}

/* The upper triangle of a matrix of 8 x 8 doubles, and the matrices of the last case. */
static MPI_Datatype triangle;
static double *matrices[2];
static int matrices_count;

static void prepare_indexed(int count) {
    int lengths[8], places[8];
    for (int i = 0; i < 8; i++) {
        lengths[i] = 8 - i;
        places[i] = 9 * i;
    }
    if (triangle == MPI_DATATYPE_NULL) {
        MPI_Datatype blocks;
        MPI_Type_indexed(8, lengths, places, MPI_DOUBLE, &blocks);
        MPI_Type_create_resized(blocks, 0, 64 * sizeof(double), &triangle);
        MPI_Type_commit(&triangle);
    }
    if (matrices_count != count)
        for (int i = 0; i < 2; i++) {
            free(matrices[i]);
            matrices[i] = malloc((size_t)count * 64 * sizeof(double));
            if (matrices[i] == NULL)
                exit(3);
            memset(matrices[i], 1, (size_t)count * 64 * sizeof(double));
        }
    matrices_count = count;
}

static void exchange_indexed(int count, int rank) {
    int peer = 1 - rank;
    if (rank == 0)
        MPI_Send(matrices[0], count, triangle, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(matrices[1], count, triangle, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(matrices[0], count, triangle, peer, 0, MPI_COMM_WORLD);
}

static void exchange(const struct work *w, int rank) {
    if (w->pattern[0] == 'i') {
        exchange_indexed(w->bytes, rank);
        return;
    }
    if (collective(w))
        return;
    int windowed = w->pattern[0] == 'w';
    if (windowed)
        window(w, rank);
    if (rank == 0) {
        if (!windowed)
            put(w, 1);
        take(w, 1);
    } else {
        if (!windowed)
            take(w, 0);
        put(w, 0);
    }
}

enum { LAST_TAG = 0, ANSWER_TAG = 1, FIRST_TAG = 10001 };

/* The messages of rank 0, or the one that rank 1 sends next. */
static unsigned char tagged[MOST_BYTES];

/* Messages with ascending tags, and one behind them, which rank 0 receives first. Returns the time
 * in which rank 0 receives the others, by tags in this order or in the reverse one. */
static double tags(const struct work *w, int rank) {
    int reverse = w->pattern[0] == 'r', last = w->window - 1;
    double start, taken = 0;
    if (rank == 1) {
        for (int i = 0; i < w->window; i++) {
            memset(tagged, i + 1, (size_t)w->bytes);
            MPI_Send(tagged, w->bytes, MPI_BYTE, 0, FIRST_TAG + i, MPI_COMM_WORLD);
        }
        MPI_Send(NULL, 0, MPI_BYTE, 0, LAST_TAG, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, ANSWER_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return taken;
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 1, LAST_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    start = now();
    for (int i = 0; i < w->window; i++) {
        int n = reverse ? last - i : i;
        MPI_Recv(tagged + n * w->bytes, w->bytes, MPI_BYTE, 1, FIRST_TAG + n, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    taken = now() - start;
    for (int i = 0; i < w->window * w->bytes; i++)
        if (tagged[i] != i / w->bytes + 1)
            exit(4);
    MPI_Send(NULL, 0, MPI_BYTE, 1, ANSWER_TAG, MPI_COMM_WORLD);
    return taken;
}

static int order(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The middle one of all samples but the first, in nanoseconds per message. */
static double work(const struct work *w, int rank) {
    int share = w->pattern[0] == 'w' ? w->window : strchr("pi", w->pattern[0]) ? 2 : 1;
    if (w->pattern[0] == 'i')
        prepare_indexed(w->bytes);
    for (int i = 0; i <= w->batches; i++) {
        double start = now();
        if (strchr("tr", w->pattern[0])) {
            samples[i] = tags(w, rank) / w->window;
            continue;
        }
        for (int j = 0; j < w->batch; j++)
            exchange(w, rank);
        samples[i] = (now() - start) / ((double)w->batch * share);
    }
    qsort(samples + 1, (size_t)w->batches, sizeof *samples, order);
    return samples[1 + w->batches / 2];
}

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct work w;
    char line[256];
    int rank, size;
    cpu_set_t core;

    alarm(AT_MOST);
    triangle = MPI_DATATYPE_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 4 || strlen(argv[1]) >= sizeof address.sun_path)
        return 2;
    CPU_ZERO(&core);
    CPU_SET(atoi(argv[2 + rank % 2]), &core);
    sched_setaffinity(0, sizeof core, &core);
    strcpy(address.sun_path, argv[1]);
    int control = socket(AF_UNIX, SOCK_STREAM, 0);
    if (control < 0 || connect(control, (struct sockaddr *)&address, sizeof address) != 0)
        return 1;
    FILE *in = fdopen(control, "r");
    memset(sent, 1, sizeof sent);
    memset(received, 1, sizeof received);
    dprintf(control, "%d\n", rank);
    alarm(0);
    while (in && fgets(line, sizeof line, in)) {
        int found = sscanf(line, "%15s %d %15s %d %d %d", w.pattern, &w.bytes, w.touch, &w.window,
                           &w.batch, &w.batches);
        int most = w.pattern[0] == 'i' ? MOST_MATRICES : 2 * MOST_BYTES / size;
        int has_tags = found > 0 && strchr("tr", w.pattern[0]) != NULL;
        if (found == 6 && has_tags)
            most = MOST_BYTES / MOST_WINDOW;
        if (found != 6 || w.bytes > most || w.window > MOST_WINDOW || w.batches < 1 ||
            w.batches >= MOST_SAMPLES)
            return 1;
        alarm(AT_MOST);
        double ns = work(&w, rank);
        alarm(0);
        dprintf(control, "%.3f\n", rank == 0 ? ns : 0.0);
    }
    alarm(AT_MOST);
    MPI_Finalize();
    return 0;
}
