/** Exports of `classes` for other features: info fields. */
export { type InfoField, type InfosChange, checkInfoFields, readInfoFields } from './rules.ts';
export { infoFieldGroupsSql } from './statements.ts';
