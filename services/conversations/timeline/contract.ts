import { timelineRpcs } from '#libs/contract';

/** Timeline of a conversation (rules/conversations#timeline; W9). */
export const ownTimelineRpcs = timelineRpcs('conversations');
