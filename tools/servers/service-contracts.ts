/** The contracts of all services that answer over NATS. */
import type { ServiceContract } from '#libs/contract';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { events } from '#services/events';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';

export const contracts: readonly ServiceContract[] = [agents, conversations, directory, events, media, transcripts];
