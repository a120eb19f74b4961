/** Public parts of `classes`: info fields. */
export { type InfoField, type InfosChange, checkInfoFields, readInfoFields } from './rules.ts';
export { infoFieldGroupsSql } from './statements.ts';
