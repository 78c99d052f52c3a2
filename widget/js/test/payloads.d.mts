export const PAYLOADS: readonly string[];
