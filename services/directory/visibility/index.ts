/** Defines which holons a caller can see and edit. */
export {
  type Viewer,
  type ViewerSql,
  canEditHolonSql,
  coveredHolonsSql,
  belongsToVisibleHolonSql,
  holonListItemSql,
  holonPublicSql,
  holonVisibleSql,
  privateClassesSql,
  readViewer,
  viewerParams,
} from './statements.ts';
