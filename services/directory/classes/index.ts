/** Exports of `classes` for other features: info fields. */
export { type InfoField, type InfosChange, checkInfoFields, readInfoFields } from './rules.ts';
export { getClassById, infoFieldGroupsSql } from './statements.ts';
