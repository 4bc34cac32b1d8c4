/** Boxoffice calls no service. */
export const clients = {} as const;
