/**
 * Settings of every connection that decide about plans; those of DATABASE_URL come after them. A page at random costs hardly more than the
 * next one on solid disks and in memory: with PostgreSQL's default, made for turning disks, a few thousand ids already read a whole table.
 * Nothing is compiled: conditions that walk a tree look dear to the planner, and compiling takes longer than any statement of a request. Nor
 * do statements start workers: that takes longer than most, and many requests at once keep the processors busy anyway. The memory of a statement
 * holds the rows that an index found in a table of a gigabyte or two; with less, PostgreSQL compares every row of the pages that they are in.
 */
export const plannerSettings = {
  random_page_cost: '1.1',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  work_mem: '16MB',
} as const;

/** The same for the start of a connection. */
export const plannerOptions = Object.entries(plannerSettings)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');
