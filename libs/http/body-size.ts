/** Largest JSON or hook body in bytes; exactly that passes (rules/http#json-body-cap). */
export const maxBodyBytes = 4_194_304;
