/** What other features need of classes: their info fields. */
export { type InfoField, type InfosChange, checkInfoFields, readInfoFields } from './rules.ts';
export { infoFieldGroupsSql } from './statements.ts';
