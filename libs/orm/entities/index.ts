/**
 * MikroORM: entities, the single declaration of a service's tables, and their units of work. It is slow to load, so
 * only modules that need it import it.
 */
export { defineEntity, LockMode, p, raw, ref } from '@mikro-orm/core';
export { columns } from './entity-managers.ts';
export { createEntityManagers } from './entity-managers.ts';
export type { Entities } from './entity-managers.ts';
