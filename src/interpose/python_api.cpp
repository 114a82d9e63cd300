#include "interpose/python_api.h"

namespace redzone::interpose {
namespace {

template <class Function>
void set_symbol(Function& out, void* symbol) {
  if (symbol != nullptr) out = reinterpret_cast<Function>(symbol);
}

}  // namespace

bool PythonApi::is_complete() const {
  return version != nullptr && code_type != nullptr && is_initialized != nullptr &&
         is_finalizing != nullptr && thread != nullptr && line_of != nullptr && length != nullptr &&
         character != nullptr && current != nullptr && disable_collection != nullptr &&
         enable_collection != nullptr && frame != nullptr && frame_back != nullptr &&
         frame_code != nullptr && frame_last != nullptr && attribute != nullptr &&
         error != nullptr && clear_error != nullptr && retain != nullptr && release != nullptr;
}

PythonApi load_python(void* (*find)(const char* name)) {
  PythonApi p;
  set_symbol(p.version, find("Py_Version"));
  set_symbol(p.code_type, find("PyCode_Type"));
  set_symbol(p.is_initialized, find("Py_IsInitialized"));
  set_symbol(p.is_finalizing, find("_Py_IsFinalizing"));  // before 3.13
  set_symbol(p.is_finalizing, find("Py_IsFinalizing"));
  set_symbol(p.thread, find("PyGILState_GetThisThreadState"));
  set_symbol(p.line_of, find("PyCode_Addr2Line"));
  set_symbol(p.length, find("PyUnicode_GetLength"));
  set_symbol(p.character, find("PyUnicode_ReadChar"));
  set_symbol(p.current, find("_PyThreadState_UncheckedGet"));  // before 3.13
  set_symbol(p.current, find("PyThreadState_GetUnchecked"));
  set_symbol(p.disable_collection, find("PyGC_Disable"));
  set_symbol(p.enable_collection, find("PyGC_Enable"));
  set_symbol(p.frame, find("PyEval_GetFrame"));
  set_symbol(p.frame_back, find("PyFrame_GetBack"));
  set_symbol(p.frame_code, find("PyFrame_GetCode"));
  set_symbol(p.frame_last, find("PyFrame_GetLasti"));
  set_symbol(p.attribute, find("PyObject_GetAttrString"));
  set_symbol(p.error, find("PyErr_Occurred"));
  set_symbol(p.clear_error, find("PyErr_Clear"));
  set_symbol(p.retain, find("Py_IncRef"));
  set_symbol(p.release, find("Py_DecRef"));
  return p;
}

}  // namespace redzone::interpose
