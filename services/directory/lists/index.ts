/** Exports lists, reply bodies and text comparison for statements and handlers. */
export { bodyOf, bodyRow, checkIfMatch } from './bodies.ts';
export {
  type ListSql,
  type RecordSort,
  afterParams,
  listSql,
  pageParams,
  readAfter,
  readSort,
  recordOrders,
  recordPage,
} from './statements/lists.ts';
export {
  containsInAnySql,
  containsSql,
  foldedSql,
  gramsOf,
  journeyGramsOf,
  literalSql,
  longGramsOf,
  nameInAnyOrderSql,
  nameInAnySql,
  nameWordStartSql,
  rowContainsSql,
  sampleShort,
  sampledSql,
  wordStartSql,
  wordsInAnyOrderSql,
} from './statements/text.ts';
