/** Contract of the events of recordings. The import job is declared in `libs/product/pipeline`. */
import { feedEvent, noData } from '#libs/infrastructure/contract';

/** Feed events of recordings (rules/events#types; V1). */
export const recordingFeed = {
  available: feedEvent({
    type: 'video.available',
    subject: 'conversation',
    summary: 'A recording became available or was replaced.',
    data: noData,
    example: {},
  }),
} as const;
