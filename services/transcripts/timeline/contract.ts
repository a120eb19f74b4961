import { timelineRpcs } from '#libs/infrastructure/contract';

/** Imports of a conversation's transcript in its timeline (rules/conversations#timeline; W9). */
export const ownTimelineRpcs = timelineRpcs('transcripts');
