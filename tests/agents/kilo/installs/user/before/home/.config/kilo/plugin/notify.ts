export const Notify = async () => ({})
