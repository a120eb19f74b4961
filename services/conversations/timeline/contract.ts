import { timelineRpcs } from '#libs/infrastructure/contract';

/** Timeline of a conversation (rules/conversations#timeline; W9). */
export const ownTimelineRpcs = timelineRpcs('conversations');
