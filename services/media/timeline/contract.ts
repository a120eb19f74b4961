import { timelineRpcs } from '#libs/infrastructure/contract';

/** Files of a conversation in its timeline (rules/conversations#timeline; W9). */
export const ownTimelineRpcs = timelineRpcs('media');
