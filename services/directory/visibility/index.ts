/** Defines which holons a caller can see and edit. */
export {
  type Viewer,
  type ViewerSql,
  canEditHolonSql,
  coveredHolonsSql,
  belongsToVisibleHolonSql,
  holonDetailSql,
  holonListItemSql,
  holonPublicSql,
  holonTagSql,
  holonVisibleSql,
  noteReadableSql,
  privateClassesSql,
  readViewer,
  seenHolonSql,
  seenParentSql,
  viewerParams,
} from './statements.ts';
