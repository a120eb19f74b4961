import type { PlatformFacts } from '../../tools/generate/chart.ts';

/** Components that have a pool of connections, as the chart knows them. */
export const listDatabaseComponents = ({ components }: PlatformFacts): string[] =>
  Object.entries(components).flatMap(([name, { settings }]) => (settings['DATABASE_URL'] === undefined ? [] : [name]));
