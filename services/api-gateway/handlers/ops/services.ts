/** The services that have jobs, by name: each is asked by its own operations. */
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { events } from '#services/events';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';

export const contracts = { agents, conversations, directory, events, media, transcripts } as const;
export type ServiceName = keyof typeof contracts;
export const serviceNames = Object.keys(contracts) as ServiceName[];

export const findServiceName = (name: string): ServiceName | undefined => serviceNames.find((known) => known === name);
