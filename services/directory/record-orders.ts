/** Orders of people and holons (rules/people#people); the primary key decides between equals. */
const byName = (alias: string): string => `${alias}.name, ${alias}.id`;
const byCreation = (alias: string): string => `${alias}.created_at desc, ${alias}.id`;
const byChange = (alias: string): string => `${alias}.updated_at desc, ${alias}.id`;

export type RecordSort = 'name' | 'latest' | 'updated';

/** Sort → SQL for the alias of a row. */
export const recordOrders: Readonly<Record<RecordSort, (alias: string) => string>> = {
  name: byName,
  latest: byCreation,
  updated: byChange,
};
