/**
 * Settings of a run from environment variables: the platform's address, credentials, and seeded data (`node
 * lab/load/seed.ts`).
 */

/** k6 calls it while it reads the script, which is when files may be opened. */
const seedText = open(__ENV.SEED_FILE || '../../.data/load/seed.json');

export const seed = JSON.parse(seedText);
export const baseUrl = (__ENV.BASE_URL || 'http://127.0.0.1:8080').replace(/\/$/, '');
export const apiToken = required('API_TOKEN');
export const loginSecret = required('API_LOGIN_SECRET');
/** Signs bookings if the platform has a BOOKING_WEBHOOK_SECRET. */
export const bookingSecret = __ENV.BOOKING_WEBHOOK_SECRET || '';
/** Size of one uploaded file in bytes. */
export const uploadBytes = Number(__ENV.UPLOAD_BYTES || 262_144);
/** Name of the run in the summary, e.g. the release version. */
export const release = __ENV.RELEASE || 'unnamed';
/** Folder of the summary; must be writable for k6. */
export const resultDir = (__ENV.RESULT_DIR || '.data/load').replace(/\/$/, '');
/** Participating personas; a platform without a language model has no visitors. */
export const personas = (__ENV.PERSONAS || 'api_client,booking_provider,messaging_provider,visitor,uploader').split(
  ',',
);

function required(name) {
  const value = __ENV[name];
  if (!value) throw new Error(`${name} is not set; see test/load/README.md`);
  return value;
}
