/** Largest logo in bytes: 5 MB, exactly that is accepted (rules/http#limits; D51). */
export const maxLogoBytes = 5_242_880;
