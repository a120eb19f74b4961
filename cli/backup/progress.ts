/** Prints the progress of a backup to stderr, every 3 seconds. */
const everyMs = 3_000;

export function createProgress(): (what: string, bytes: number) => void {
  const startedAt = performance.now();
  let reportedAt = startedAt;
  let total = 0;
  return (what, bytes) => {
    total += bytes;
    const now = performance.now();
    if (now - reportedAt < everyMs) return;
    reportedAt = now;
    process.stderr.write(
      `${what}: ${sizeOf(total)} so far, ${sizeOf((total * 1000) / (now - startedAt))} per second\n`,
    );
  };
}

/** Returns a size with its unit, e.g. `1.5 MB`. */
export function sizeOf(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, bytes < 1_000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return `${power === 0 ? Math.round(bytes) : (bytes / 1_000 ** power).toFixed(1)} ${units[power]}`;
}
