package attack

const sourceVariable = "PROCTOR_ATTACK_SOURCE"
