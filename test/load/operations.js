/**
 * Operations of the personas with their time limit: the 95th percentile in milliseconds, at the load of the average
 * suite. The chat time depends on the language model.
 */
export const operations = {
  'find or create': 400,
  'read conversation': 200,
  'read steps': 200,
  'patch conversation': 400,
  search: 600,
  whoami: 200,
  'booking webhook': 400,
  'agent update': 400,
  'chat page': 200,
  'chat message': 20_000,
  upload: 2_000,
  download: 800,
};

/** Operations of each persona; thresholds are only set for participating personas. */
export const operationsOf = {
  api_client: ['find or create', 'read conversation', 'read steps', 'patch conversation', 'search', 'whoami'],
  booking_provider: ['booking webhook'],
  messaging_provider: ['agent update'],
  visitor: ['chat page', 'chat message'],
  uploader: ['upload', 'download'],
};

/**
 * Client timeouts in milliseconds: the gateway's deadline plus five seconds for the network. A longer request hangs,
 * whatever the load.
 */
export const patienceMs = {
  api_client: 20_000,
  booking_provider: 20_000,
  messaging_provider: 20_000,
  visitor: 145_000,
  uploader: 60_000,
};
