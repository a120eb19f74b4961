/** What imports of recordings stand on; the job itself is declared in `libs/pipeline`. */
import { feedEvent, noData } from '#libs/contract';

/** What the feed is told of recordings (rules/events#types; V1). */
export const recordingFeed = {
  available: feedEvent({
    type: 'video.available',
    subject: 'conversation',
    summary: 'A conversation has a recording, or another one.',
    data: noData,
    example: {},
  }),
} as const;
