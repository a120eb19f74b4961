/** Names of the services that have jobs and an audit log, without loading their contracts. */
export const serviceNames = ['agents', 'conversations', 'directory', 'events', 'media', 'transcripts'] as const;
