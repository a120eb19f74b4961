/**
 * MikroORM: the entities, which are the only declaration of a service's tables, and their units of work. It loads
 * slowly, so it is imported only by modules that need it.
 */
export { defineEntity, LockMode, p, raw, ref } from '@mikro-orm/core';
export { columns } from './entity-managers.ts';
export { createEntityManagers } from './entity-managers.ts';
export type { Entities } from './entity-managers.ts';
