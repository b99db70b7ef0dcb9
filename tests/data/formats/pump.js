// Reads the state of a coolant pump.
const LIMIT = 95;

function isHot(degrees) {
  return degrees > LIMIT; // 온도 확인
}

export { isHot };
